"""Whether moves, chance, symmetries and short cuts of a game agree with each other."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from jaxgbg.games.core import Game
from jaxgbg.games.identity import state_keys
from jaxgbg.games.rollout import roll_out, select_states
from jaxgbg.games.rotations import SeatRotations
from jaxgbg.games.sampling import Sample, choose_by_word, sample_games
from jaxgbg.lazy import jax, jnp
from jaxgbg.types import Memory, PyTree, State
from jaxgbg.xla import fast_compile_options

# Most pairs of a position and an action that are tried, and random games of a comparison.
_PAIRS, _DRAWS, _GAMES = 20_000, 256, 8
# Games that are played twice, and their plies.
_ROTATED, _ROTATED_PLIES = 32, 256
# Two means of as many draws differ by more once in 500 million times.
_STANDARD_ERRORS = 6.0


def move_faults(game: Game) -> list[str]:
    """Every action, impossible ones included, in positions of random games."""
    sample = sample_games(game)
    actions = np.arange(-2, game.num_actions + 2, dtype=np.int32)
    plies, games = _positions(sample, max(16, min(256, _PAIRS // len(actions))))
    states = select_states(sample.states, (plies, games))

    def expand(state: State, action: jax.Array) -> tuple[PyTree, ...]:
        after = game.afterstate(state, action)
        change = None if game.change_patterns is None else game.change(state, action)
        altered = game.altered(state, action) if game.most_altered else None
        return after, game.cells(after), change, altered

    def everything(states: State, actions: jax.Array) -> tuple[PyTree, PyTree]:
        expanded = jax.vmap(jax.vmap(expand, (None, 0)), (0, None))(states, actions)
        return expanded, jax.vmap(game.outcomes)(states)

    (after, cells, changes, altered), outcomes = jax.device_get(
        _compiled(everything)(states, actions)
    )
    legal = np.pad(sample.legal[plies, games], ((0, 0), (2, 2)))
    same = _unchanged(states, after)
    over = states.terminal[:, None]
    faults = []
    for wrong, text in (
        (~same & ~legal & ~over, "an action that is not legal changes the state"),
        (~same & over, "a terminal state does not stay as it is"),
        (same & legal, "a legal action changes nothing"),
    ):
        if wrong.any():
            position, action = np.argwhere(wrong)[0]
            faults.append(f"{text}: action {actions[action]} at ply {plies[position]}")
    if cells.min() < 0 or cells.max() >= game.num_cell_values:
        faults.append(f"cells of an afterstate: a digit is outside 0..{game.num_cell_values - 1}")
    faults += _outcome_faults(states, after, outcomes)
    before = sample.cells[plies, games].astype(int)
    faults += _board_faults(game, states.player, before, legal, cells, changes)
    if altered is not None:
        faults += _altered_faults(game, before, legal, cells, *altered)
    return faults + _eager_faults(game, states, before, legal, actions, after)


def _positions(sample: Sample, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(plies, games) of positions to look at: three quarters with a move to make, then ends."""
    over = sample.terminal[:, : jax.tree.leaves(sample.states)[0].shape[1]]
    going, ended = np.argwhere(~over), np.argwhere(over)
    chosen = [going[np.linspace(0, len(going) - 1, most * 3 // 4, dtype=int)]]
    if len(ended):
        chosen.append(ended[np.linspace(0, len(ended) - 1, most // 4, dtype=int)])
    return tuple(np.concatenate(chosen).T)  # type: ignore[return-value]


def _unchanged(states: State, after: State) -> np.ndarray:
    """bool[n, X]: whether the afterstate [n, X] of every action is the state [n] itself."""

    def same(old: np.ndarray, new: np.ndarray) -> np.ndarray:
        return (old[:, None] == new).reshape(*new.shape[:2], -1).all(-1)

    return np.all(jax.tree.leaves(jax.tree.map(same, states, after)), axis=0)


def _outcome_faults(
    states: State, after: State, outcomes: tuple[np.ndarray, np.ndarray]
) -> list[str]:
    mover = np.asarray(states.player.astype(int))[:, None, None]
    gain = np.take_along_axis(np.asarray(after.rewards - states.rewards[:, None]), mover, 2)[..., 0]
    faults = []
    if not np.allclose(outcomes[0], gain[:, 2:-2], rtol=1e-5, atol=1e-6):
        faults.append("outcomes: the mover's reward is not that of making the move")
    if (outcomes[1] != after.terminal[:, 2:-2]).any():
        faults.append("outcomes: the end of the game is not that of making the move")
    return faults


def _board_faults(
    game: Game,
    players: np.ndarray,
    before: np.ndarray,
    legal: np.ndarray,
    cells: np.ndarray,
    changes: np.ndarray | None,
) -> list[str]:
    """Whether stones and changes lead from the cells [n, C] to those of the afterstates."""
    faults = []
    actions = np.arange(-2, game.num_actions + 2)
    if game.stone_digits is not None:
        stone = (actions[:, None] == np.arange(game.num_cells)) & legal[..., None]
        digit = np.array(game.stone_digits)[players][:, None, None]
        if (before[:, None] + digit * stone != cells).any():
            faults.append("stone_digits: a move alters the cells otherwise")
    if changes is not None and game.change_patterns is not None:
        if changes.min() < 0 or changes.max() >= len(game.change_patterns[0]):
            return [*faults, "change: the number is none of a pattern in change_patterns"]
        if ((changes == 0) != ~legal).any():
            faults.append("change: 0 must stand for the actions that are not legal")
        where, differences = (np.asarray(part)[changes] for part in game.change_patterns)
        expected = np.repeat(before[:, None], len(actions), axis=1)
        position, action = np.indices(legal.shape)[..., None]
        np.add.at(expected, (position, action, where), differences)
        if (expected != cells).any():
            faults.append("change_patterns: a move alters the cells otherwise")
    return faults


def _altered_faults(
    game: Game,
    before: np.ndarray,
    legal: np.ndarray,
    cells: np.ndarray,
    where: np.ndarray,
    digits: np.ndarray,
) -> list[str]:
    """Whether what legal actions alter, [n, X, K], leads from cells [n, C] to [n, X, C]."""
    if where.shape[2:] != (game.most_altered,) or digits.shape != (*where.shape, 2):
        return ["altered: there must be most_altered cells, and two digits for each"]
    where, digits = where[legal], digits[legal]
    if where.size and (where.min() < -1 or where.max() >= game.num_cells):
        return [f"altered names cell {where.max()}: there are {game.num_cells}"]
    # Who alters no cell alters one beyond the board.
    expected = np.pad(np.repeat(before[:, None], legal.shape[1], 1)[legal], ((0, 0), (0, 1)))
    rows = np.arange(len(where))[:, None]
    named = np.zeros(expected.shape, int)
    np.add.at(named, (rows, where), 1)
    faults = []
    if (named[:, :-1] > 1).any():
        faults.append("altered names a cell twice")
    if (expected[rows, where] != digits[..., 0])[where >= 0].any():
        faults.append("altered: something else was there before")
    expected[rows, where] = digits[..., 1]
    if (expected[:, :-1] != cells[legal]).any():
        faults.append("altered: a move alters the cells otherwise")
    return faults


def _eager_faults(
    game: Game,
    states: State,
    before: np.ndarray,
    legal: np.ndarray,
    actions: np.ndarray,
    after: State,
) -> list[str]:
    """Whether plain Python plays as compiled batches do: no hidden state, no other chance."""
    for position in (0, len(legal) // 3, 2 * len(legal) // 3):
        state = jax.tree.map(jnp.asarray, select_states(states, position))
        choice = int(np.argmax(legal[position]))
        with jax.disable_jit():
            alone = game.afterstate(state, jnp.int32(actions[choice]))
            seen = np.asarray(game.legal_actions(state)), np.asarray(game.cells(state))
        agree = jax.tree.map(
            lambda x, y: np.allclose(x, y, rtol=1e-5, atol=1e-6),
            alone,
            select_states(after, (position, choice)),
        )
        batched = legal[position][2:-2], before[position]
        if not (all(jax.tree.leaves(agree)) and all(map(np.array_equal, seen, batched))):
            return ["a move made one by one is not the move made in a compiled batch"]
    return []


def start_faults(game: Game) -> list[str]:
    """Whether games start alike by keys and by words."""

    def draw(seed: jax.Array, words: jax.Array) -> tuple[State, State]:
        keys = jax.random.split(jax.random.wrap_key_data(seed), _DRAWS)
        return jax.vmap(game.init)(keys), jax.vmap(game.init_from)(words)

    by_keys, by_words = jax.device_get(_compiled(draw)(_words(2), _words(_DRAWS, game.init_words)))
    if not game.init_words and any((x != x[:1]).any() for x in jax.tree.leaves(by_keys)):
        return ["init draws, but init_words is 0: training always starts alike; set it to 2"]
    if _differ(*(jax.tree.map(lambda x: x[None], draws) for draws in (by_keys, by_words))):
        return ["init and init_from draw other start positions"]
    return []


def elimination_faults(game: Game) -> list[str]:
    """Whether players who are out stay out, never move and are paid no more."""
    if not game.eliminates:
        return []
    sample = sample_games(game)
    active = jax.device_get(_compiled(jax.vmap(jax.vmap(game.active)))(sample.states))
    games = active.shape[1]
    over, rewards = sample.terminal[:, :games], sample.rewards[:, :games]
    mover = np.take_along_axis(active, sample.player[:, :games, None].astype(int), 2)[..., 0]
    out = ~active[:-1]
    points = [
        ((active & over[..., None]).any(2), "active: a player is active in a terminal state"),
        (~mover & ~over, "active: the player to move is not active"),
        ((out & active[1:]).any(2), "active: a player who was out is active again"),
        (
            (out & (rewards[1:] != rewards[:-1])).any(2),
            "active: a player is paid after it was out: pay it in the ply in which it leaves",
        ),
    ]
    return [
        f"{text} (seen at ply {int(np.argmax(wrong.any(1)))} of random play)"
        for wrong, text in points
        if wrong.any()
    ]


def chance_faults(game: Game) -> list[str]:
    """Whether chance draws alike by keys, by words and as listed, where a move has been made.

    And whether it pays nobody.
    """
    if not game.stochastic:
        return ["spawn_words is not 0, but there is no spawn"] if game.spawn_words else []
    if not game.spawn_words:
        return ["spawn draws, but spawn_words is 0: training would never spawn; set it to 2"]
    sample = sample_games(game)
    plies, games = _positions(sample, 64)
    states, actions = select_states(sample.states, (plies, games)), sample.actions[plies, games]

    def draw(
        states: State, actions: jax.Array, seed: jax.Array, words: jax.Array
    ) -> tuple[PyTree, ...]:
        keys = jax.random.split(jax.random.wrap_key_data(seed), _DRAWS)
        moved = jax.vmap(game.afterstate)(select_states(states, np.s_[:_GAMES]), actions)
        spawn, spawn_from = (
            jax.vmap(jax.vmap(function, (None, 0)), (0, None))
            for function in (game.spawn, game.spawn_from)
        )
        still = spawn(states, keys[:1]), spawn_from(states, words[:1])
        legal = jax.vmap(game.legal_actions)(moved)
        return moved, legal, spawn(moved, keys), spawn_from(moved, words), *still

    drawn = _compiled(draw)(states, actions[:_GAMES], _words(2), _words(_DRAWS, game.spawn_words))
    moved, legal, by_keys, by_words, *still = jax.device_get(drawn)
    faults = []
    if (~_unchanged(moved, by_words).all(1) & legal.any(1)).any():
        faults.append("legal actions in an afterstate where chance is due: allow none before it")
    if not all(_unchanged(states, after).all() for after in still):
        faults.append("spawn changes a position where a move is to be made, or the game is over")
    if (by_words.rewards != moved.rewards[:, None]).any():
        faults.append("spawn pays a player: all rewards must come from afterstate")
    if _differ(by_keys, by_words):
        faults.append("spawn and spawn_from draw otherwise")
    return faults or (_listing_faults(game, moved, by_words) if game.num_spawns else [])


def _listing_faults(game: Game, moved: State, drawn: State) -> list[str]:
    """Whether the outcomes listed of afterstates [n] are those that were `drawn`, [n, D]."""

    def listing(moved: State) -> tuple[jax.Array, State]:
        numbers = jnp.arange(game.num_spawns)
        outcomes = jax.vmap(jax.vmap(game.spawn_outcome, (None, 0)), (0, None))(moved, numbers)
        return jax.vmap(game.spawn_probabilities)(moved), outcomes

    shares, outcomes = jax.device_get(_compiled(listing)(moved))
    if not (shares >= 0).all():
        return ["spawn_probabilities: one is below 0, or no number"]
    total = shares.sum(1)[~moved.terminal]
    if total.size and np.abs(total - 1).max() > 1e-5:
        wrong = total[np.abs(total - 1).argmax()]
        return [f"spawn_probabilities add up to {wrong:g}, not to 1, in an afterstate"]
    both = jax.tree.map(lambda *parts: np.concatenate(parts, 1), outcomes, drawn)
    for n in np.flatnonzero(~moved.terminal):
        kinds = np.unique(state_keys(select_states(both, n)), return_inverse=True)[1].ravel()
        # Outcomes that are the same state add up.
        share = np.bincount(kinds[: game.num_spawns], shares[n], kinds.max() + 1)
        count = np.bincount(kinds[game.num_spawns :], minlength=len(share))
        if (count[share == 0] > 0).any():
            return ["spawn_outcome: spawn draws a state that is not listed, or with probability 0"]
        mean = _DRAWS * share
        allowed = 3 + _STANDARD_ERRORS * np.sqrt(mean * (1 - np.minimum(share, 1)))
        if (np.abs(count - mean) > allowed).any():
            return ["spawn draws an outcome more or less often than spawn_probabilities says"]
    return []


def image_faults(game: Game) -> list[str]:
    """Whether symmetric boards, from symmetric starts, allow and bring the same; without chance.

    With chance: `chance_image_faults`.
    """
    start = sample_games(game).cells[0, 0]
    kept = [j for j, image in enumerate(game.symmetries) if (start[image] == start).all()]
    if len(kept) < 2 or game.stochastic:
        return []
    wrong = image_differences(game, game.symmetries[kept], game.action_symmetries[kept])
    return [
        f"symmetries: {name} of image {kept[j]} of a game are not its own image's"
        for j, name in wrong.items()
    ][:1]


def image_differences(
    game: Game, boards: np.ndarray, images: np.ndarray, games: int = _GAMES
) -> dict[int, str]:
    """What differs first between random games and their images, by the number of the image.

    `boards` int32[J, C] and `images` int32[J, A] map cells and actions as `Game.symmetries` and
    `Game.action_symmetries` do; every one keeps the start position. Without chance.
    """
    sample = sample_games(game)
    games = min(games, sample.states.terminal.shape[1])
    actions = np.moveaxis(images[:, sample.actions[:, :games]], 0, 1)
    first = select_states(sample.states, (np.zeros((len(boards), 1), int), np.arange(games)[None]))

    def replay(states: State, actions: jax.Array) -> PyTree:
        def ply(states: State, actions: jax.Array) -> tuple[State, PyTree]:
            both = jax.vmap(jax.vmap(lambda state: (game.legal_actions(state), game.cells(state))))
            seen = (*both(states), states.player, states.terminal, states.rewards)
            return jax.vmap(jax.vmap(game.afterstate))(states, actions), seen

        return jax.lax.scan(ply, states, actions)[1]

    seen = jax.device_get(_compiled(replay)(first, actions))
    parts = (sample.legal, sample.cells, sample.player, sample.terminal, sample.rewards)
    legal, cells, *rest = (part[:, :games] for part in parts)
    wrong = {}
    for j, board in enumerate(boards):
        image = [part[:, j] for part in seen]
        for name, found, expected in (
            ("cells", image[1], cells[..., board]),
            ("legal actions", image[0][..., images[j]], legal),
            ("player", image[2], rest[0]),
            ("end of the game", image[3], rest[1]),
            ("rewards", image[4], rest[2]),
        ):
            if j not in wrong and not np.array_equal(found, expected):
                wrong[j] = name
    return wrong


def rotation_faults(game: Game) -> list[str]:
    """Whether a game goes on alike on the image of every player, by `Game.seat_rotations`."""
    rotations = game.seat_rotations
    return [] if rotations is None else rotation_differences(game, rotations)


def rotation_differences(game: Game, rotations: SeatRotations) -> list[str]:
    """What differs between random games and their images by `rotations`: one line at most.

    Every game is played twice in lockstep, the second time from `rotated_start` with the images of
    the actions and the same random words. `rotations` must have the owners of the game's own ones.
    """
    guests = np.flatnonzero(rotations.shift).tolist()
    if not guests:
        return []
    plies = min(game.max_plies, _ROTATED_PLIES)
    words = (
        _words(_ROTATED, game.init_words),
        _words(plies, _ROTATED),
        _words(plies, _ROTATED, game.spawn_words),
    )
    names = np.stack([np.arange(game.num_actions), *rotations.actions[guests]])
    seen = jax.device_get(_played_twice()(game, tuple(guests), names, words))
    parts = ("cells", "cells after a move", "legal actions", "player", "end of the game", "rewards")
    for number, guest in enumerate(guests, 1):
        expected = _rotated(rotations, guest, [part[:, 0] for part in seen])
        for name, one, other in zip(parts, expected, seen, strict=True):
            if (wrong := one != other[:, number]).any():
                at = int(np.argwhere(wrong)[0, 0])
                text = f"{name} of a game are not so on the image for player {guest} (ply {at})"
                return [f"seat_rotations: {text}"]
    return []


@cache
def _played_twice() -> Callable[..., PyTree]:
    def play(
        game: Game, guests: tuple[int, ...], names: jax.Array, words: tuple[jax.Array, ...]
    ) -> PyTree:
        starts, draws, chance = words
        first = jax.vmap(game.init_from)(starts)
        images = [jax.vmap(partial(game.rotated_start, player=player))(first) for player in guests]
        both = jax.tree.map(lambda *leaves: jnp.stack(leaves), first, *images)

        def ply(both: State, words: tuple[jax.Array, jax.Array]) -> tuple[State, PyTree]:
            draw, chance = words
            every = jax.vmap(jax.vmap(lambda state: (game.cells(state), game.legal_actions(state))))
            cells, legal = every(both)
            actions = names[:, choose_by_word(legal[0], draw)]
            after = jax.vmap(jax.vmap(game.afterstate))(both, actions)
            seen = (cells, every(after)[0], legal, both.player, both.terminal, both.rewards)
            if game.stochastic:
                after = jax.vmap(jax.vmap(game.spawn_from), (0, None))(after, chance)
            return after, seen

        return jax.lax.scan(ply, both, (draws, chance))[1]

    return jax.jit(play, static_argnums=(0, 1), compiler_options=fast_compile_options())


def _rotated(
    rotations: SeatRotations, player: int, seen: list[np.ndarray]
) -> tuple[np.ndarray, ...]:
    """What `seen` of a game, as in `rotation_differences`, is on the image for a player."""
    cells, moved, legal, mover, terminal, rewards = seen
    players = len(rotations.owner)

    def image(boards: np.ndarray) -> np.ndarray:
        places = np.arange(boards.shape[-1])
        return rotations.digits[player][places, boards[..., rotations.cells[player]]]

    shift = int(rotations.shift[player])
    return (
        image(cells),
        image(moved),
        legal[..., np.argsort(rotations.actions[player])],
        (mover + shift) % players,
        terminal,
        np.roll(rewards, shift, -1),
    )


def playout_faults(game: Game) -> list[str]:
    """Whether `playout`, where a game has it, ends as uniformly random play does."""
    playout = getattr(game, "playout", None)
    if playout is None:
        return []
    sample = sample_games(game)
    states = select_states(sample.states, _positions(sample, 4))
    count = len(states.terminal) * _DRAWS

    def ends(states: State, words: jax.Array) -> tuple[jax.Array, jax.Array]:
        def choose(
            states: State, key: jax.Array, none: Memory
        ) -> tuple[jax.Array, jax.Array, Memory]:
            key, draw = jax.random.split(key)
            drawn = jax.random.bits(draw, (count,), jnp.uint32)
            return choose_by_word(jax.vmap(game.legal_actions)(states), drawn), key, none

        many = jax.tree.map(lambda leaf: jnp.repeat(leaf, _DRAWS, axis=0), states)
        played = roll_out(game, many, choose, jax.random.key(0)).rewards
        drawn = jax.vmap(jax.vmap(playout, (None, 0)), (0, None))(states, words)
        return played.reshape(drawn.shape), drawn

    if _differ(*jax.device_get(_compiled(ends)(states, _words(_DRAWS, 2)))):
        return ["playout ends otherwise than uniformly random play"]
    return []


def _words(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(2**32, size=shape, dtype=np.uint32)


def _compiled(function: Callable[..., PyTree]) -> Callable[..., PyTree]:
    return jax.jit(function, compiler_options=fast_compile_options())


def _differ(one: PyTree, other: PyTree) -> bool:
    """Whether two sets of draws [n, D, ...] have other means than chance explains."""

    def moments(draws: np.ndarray) -> np.ndarray:
        flat = draws.reshape(*draws.shape[:2], -1).astype(np.float64)
        return np.concatenate(
            [flat, flat.sum(2, keepdims=True), (flat**2).sum(2, keepdims=True)], 2
        )

    def differs(one: np.ndarray, other: np.ndarray) -> bool:
        x, y = moments(one), moments(other)
        error = np.sqrt((x.var(1) + y.var(1)) / x.shape[1])
        allowed = _STANDARD_ERRORS * error + 1e-6 * np.abs(x).max(initial=1)
        return bool((np.abs(x.mean(1) - y.mean(1)) > allowed).any())

    return any(jax.tree.leaves(jax.tree.map(differs, one, other)))
