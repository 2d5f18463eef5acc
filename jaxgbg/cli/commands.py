"""The commands of `jaxgbg`, one function for each; their signatures are the options."""

from jaxgbg.lazy import Function

COMMANDS: dict[str, Function[None]] = {
    "games": Function("jaxgbg.cli.games:games"),
    "zoo": Function("jaxgbg.cli.zoo:zoo"),
    "check": Function("jaxgbg.cli.check:check"),
    "show": Function("jaxgbg.cli.show:show"),
    "agent": Function("jaxgbg.cli.agent:agent"),
    "train": Function("jaxgbg.cli.train:train"),
    "ablate": Function("jaxgbg.cli.ablate:ablate"),
    "table1": Function("jaxgbg.cli.table1:table1"),
    "sweep": Function("jaxgbg.cli.sweep:sweep"),
    "eval": Function("jaxgbg.cli.eval:evaluate"),
    "ensemble": Function("jaxgbg.cli.ensemble:ensemble"),
    "shrink": Function("jaxgbg.cli.shrink:shrink"),
    "compare": Function("jaxgbg.cli.compare:compare"),
    "tournament": Function("jaxgbg.cli.tournament:tournament"),
    "analyze": Function("jaxgbg.cli.analyze:analyze"),
    "replay": Function("jaxgbg.cli.replay:replay"),
    "results": Function("jaxgbg.cli.results:results"),
    "plot": Function("jaxgbg.cli.plot:plot"),
    "report": Function("jaxgbg.cli.report:report"),
    "watch": Function("jaxgbg.cli.watch:watch"),
    "play": Function("jaxgbg.cli.play:play"),
    "gtp": Function("jaxgbg.cli.gtp:gtp"),
    "perft": Function("jaxgbg.cli.perft:perft"),
    "bench": Function("jaxgbg.cli.bench:bench"),
}
"""Name -> function, in the order in which help lists them."""
