"""Read config.json, once for all runs that differ only in their seeds."""

import dataclasses
import functools
import json
from collections.abc import Mapping

from jaxgbg.games import Game
from jaxgbg.games.registry import is_known
from jaxgbg.results.axes import setting_values
from jaxgbg.runs import Run
from jaxgbg.runs.run import changed_parts, digest_of, read_game, read_parts
from jaxgbg.types import JSON, SettingValue

_NAMES = frozenset(field.name for field in dataclasses.fields(Run)) | {"fingerprint"}


@dataclasses.dataclass(frozen=True)
class Config:
    """The config of runs that differ only in their seeds; it has those of the first run.

    `content` is its plain form without unknown settings (`unknown` has their names), `parts` its
    specs and settings, `game` its game, None if no game of that name is registered.
    """

    content: dict[str, JSON]
    game: Game | None
    parts: dict[str, SettingValue]
    unknown: tuple[str, ...]

    @functools.cached_property
    def values(self) -> dict[str, SettingValue]:
        """All settings by their paths, as axes have them; `seeds` are those of the first run."""
        fingerprint = self.content.get("fingerprint")
        return {**setting_values(self.parts, self.content["game"]), "fingerprint": fingerprint}

    @functools.cached_property
    def changed(self) -> dict[str, JSON]:
        """The parts that its digest covers."""
        return changed_parts(self.parts | {"game": self.content["game"]})

    def digest(self, seeds: tuple[int, ...]) -> str:
        """The digest of a run with these seeds."""
        return digest_of(self.changed | {"seeds": list(seeds)})

    @functools.cached_property
    def error(self) -> ValueError | None:
        """Why such a run cannot be repeated here, for example under other rules; None if it can."""
        try:
            Run.read(self.content | {"seeds": [0]})
        except ValueError as error:
            return error
        return None


class Configs:
    """Reads configs; those that differ only in their seeds are read once."""

    def __init__(self) -> None:
        self._known: dict[str, Config] = {}
        self._games: dict[str, bool] = {}

    def read(self, content: Mapping[str, JSON]) -> tuple[Config, tuple[int, ...], str]:
        """Return (config, seeds of this run, text that identifies the config).

        Raises ValueError for an invalid config.
        """
        seeds = content.get("seeds", Run.__dataclass_fields__["seeds"].default)
        checked: tuple[int, ...] = Run.check("seeds", seeds)
        text = json.dumps({**content, "seeds": None}, separators=(",", ":"))
        return self.known(text, checked), checked, text

    def known(self, text: str, seeds: tuple[int, ...]) -> Config:
        """The config of a text from `read`; `seeds` are those of the first run."""
        config = self._known.get(text)
        if config is None:
            config = self._known[text] = self._read({**json.loads(text), "seeds": list(seeds)})
        return config

    def _read(self, content: dict[str, JSON]) -> Config:
        known, unknown = _known(content)
        if not isinstance(known.get("fingerprint", ""), str):
            raise ValueError(f"fingerprint must be text, not {known['fingerprint']!r}")
        game = known.get("game")
        name = game.get("name") if isinstance(game, Mapping) else None
        elsewhere = isinstance(name, str) and not self._has(name)
        parts = read_parts(known)
        return Config(known, None if elsewhere else read_game(game), parts, unknown)

    def _has(self, name: str) -> bool:
        """Whether such a game is registered; looked up once for each name."""
        if name not in self._games:
            self._games[name] = is_known(name)
        return self._games[name]


def _known(content: Mapping[str, JSON]) -> tuple[dict[str, JSON], tuple[str, ...]]:
    """Split a config into its known settings and the names of unknown ones."""
    known: dict[str, JSON] = {}
    unknown: list[str] = []
    for name, part in content.items():
        if name not in _NAMES:
            unknown.append(name)
            continue
        component = None if name in ("game", "fingerprint") else Run.part(name)
        if component is not None:
            spec = component.of(part)
            part = spec.renamed(part)
            settings = {field.name for field in dataclasses.fields(spec)} | {"kind"}
            unknown += [f"{name}.{setting}" for setting in part.keys() - settings]
            part = {setting: part[setting] for setting in part if setting in settings}
        known[name] = part
    return known, tuple(unknown)
