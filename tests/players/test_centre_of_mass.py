"""COM of Lines of Action: which stone, in what order, how often; and what it scores."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgbg.evaluation import Protocol, compete
from jaxgbg.games import make
from jaxgbg.games.sampling import sample_games
from jaxgbg.players import CentreOfMass, RandomPlayer, make_player
from jaxgbg.xla import fast_compile_options
from tests.games.lines_of_action import BLOCKED, GAME, M1, M2, M3, action_of, position
from tests.games.playouts import select
from tests.reference import lines_of_action as plain

PLAYER = CentreOfMass(GAME)
probabilities = jax.jit(PLAYER.probabilities, compiler_options=fast_compile_options())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "player", "expected"),
    [
        (M1, "X", {"g1-g4": 0.5065, "g1-e1": 0.3072, "g1-h2": 0.1863}),
        (M2, "X", {"g8-e6": 0.5065, "g8-g6": 0.3072, "g8-h7": 0.1863}),
        (M3, "O", {"a1-d4": 0.6225, "a1-a5": 0.3775}),
    ],
    ids=["M1", "M2", "M3"],
)
def test_it_moves_the_farthest_stone_and_likes_what_is_near_the_centre(board, player, expected):
    found = np.asarray(probabilities(position(board, player)))[0]
    wanted = {action_of(move): chance for move, chance in expected.items()}
    assert set(np.flatnonzero(found).tolist()) == set(wanted)
    for action, chance in wanted.items():
        assert found[action] == pytest.approx(chance, abs=5e-5)


@pytest.mark.slow
def test_it_passes_where_nothing_moves():
    assert np.asarray(probabilities(position(BLOCKED, "O")))[0, 512] == 1


def expected_chances(cells: tuple[int, ...], player: int) -> dict[int, float]:
    """The same in plain Python, with fractions of places for moves that are equally near."""
    rules = plain.LinesOfAction()
    own = [divmod(cell, 8) for cell in range(64) if cells[cell] == player]
    centre = np.mean(own, axis=0)

    def distance(cell: int) -> float:
        return round(float(((np.array(divmod(cell, 8)) - centre) ** 2).sum()), 9)

    moves = rules.moves(cells, player)
    reach = max(distance(origin) for origin, _ in moves.values())
    stones = {origin for origin, _ in moves.values() if distance(origin) == reach}
    chances = {}
    for stone in stones:
        left = {a: distance(end) for a, (origin, end) in moves.items() if origin == stone}
        weights = np.exp(-np.arange(len(left)) / 2)
        weights /= weights.sum() * len(stones)
        order = sorted(left.values())
        for action, near in left.items():
            tied = [weight for weight, other in zip(weights, order, strict=True) if other == near]
            chances[action] = float(np.mean(tied))
    return chances


@pytest.mark.slow
def test_its_chances_are_those_of_a_plain_count_and_its_choices_follow_them():
    sample = sample_games(GAME)
    plies, games = np.argwhere(~sample.terminal[:, :16])[::23].T
    states = select(sample.states, (plies, games))
    found = np.asarray(probabilities(states))
    tied = 0
    for chances, cells, player in zip(
        found, sample.cells[plies, games].tolist(), states.player.tolist(), strict=True
    ):
        expected = expected_chances(tuple(cells), player)
        wanted = np.zeros(513)
        wanted[list(expected)] = list(expected.values())
        np.testing.assert_allclose(chances, wanted, atol=1e-6)
        tied += len(set(expected.values())) < len(expected)
    assert tied > 5
    start = jax.tree.map(lambda leaf: leaf[:1], states)
    many = jax.tree.map(lambda leaf: jnp.repeat(leaf, 40_000, axis=0), start)
    counts = np.bincount(PLAYER.act(many, jax.random.key(3)), minlength=513)
    error = np.sqrt(found[0] * (1 - found[0]) / 40_000)
    assert (np.abs(counts / 40_000 - found[0]) <= 4 * error).all()


@pytest.mark.slow
def test_it_beats_random_play_as_often_as_known():
    """20 000 games in C, COM first: 99.93 %."""
    protocol = Protocol("default", repeats=500)
    player = make_player("centre-of-mass", GAME)
    scores = compete(GAME, player, RandomPlayer(GAME), protocol, jax.random.key(0))
    assert (scores > 0).mean() > 0.99


def test_it_plays_no_other_game():
    with pytest.raises(ValueError, match="centre-of-mass plays lines_of_action only, not hex"):
        make_player("centre-of-mass", make("hex"))
