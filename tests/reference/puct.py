"""PUCT over V(s | player), one object a node, in float64."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from .rules import Cells, Game, State, is_out

Value = Callable[[Cells, int], float]
"""V(s | player) of a board."""

ActionValue = Callable[[Cells, int], Sequence[float]]
"""Q(s, a | player) of a board in his turn, for every action a."""


@dataclass
class Node:
    """A position, what every player may get from there on, and what is known of its actions."""

    state: State
    values: list[float]
    prior: dict[int, float]
    visits: dict[int, int] = field(default_factory=dict)
    totals: dict[int, float] = field(default_factory=dict)
    children: dict[int, Node] = field(default_factory=dict)
    waiting: Counter[int] = field(default_factory=Counter)

    def all(self) -> Iterator[Node]:
        """This node and all that are known below it."""
        yield self
        for child in self.children.values():
            yield from child.all()

    def bounds(self) -> tuple[float, float]:
        """What player 0 ends with at least and at most, as far as this tree proves it."""
        if self.state.terminal:
            return self.state.rewards[0], self.state.rewards[0]
        tried = [child.bounds() for child in self.children.values()]
        every = tried + [(-1.0, 1.0)] * (len(self.prior) - len(tried))
        best = max if self.state.player == 0 else min
        return best(low for low, _ in every), best(high for _, high in every)

    def may_be_best(self, action: int) -> bool:
        """Whether an action may beat what this node's mover is sure of."""
        sign = 1 if self.state.player == 0 else -1
        sure = min(sign * bound for bound in self.bounds())
        bounds = self.children[action].bounds() if action in self.children else (-1.0, 1.0)
        return max(sign * bound for bound in bounds) > sure


@dataclass
class PUCT:
    """Selection by Q + c P sqrt(sum N + 1e-8) / (1 + N), each player by his own values.

    A position is worth to a player what his best action promises when it is his turn, the others
    before him having made theirs; to the last of the players in turn V(s | player), and to who is
    out nothing.
    Of equal scores the first counts. `closest` is the least difference there was, if any, between
    the best score and the next one, as a share of the former. With `solver` only what may be the
    best is tried, by bounds that are computed again from the whole tree below (rewards -1 to 1).
    `leaves` are found one after the other before any of them is valued: an action that waits for
    values counts as tried with a gain of `loss` by each of those that took it.
    """

    game: Game
    value: Value
    iterations: int
    exploration: float = 1.0
    temperature: float = 1.0
    unvisited: float = 0.0
    solver: bool = False
    leaves: int = 1
    loss: float = -1.0
    closest: float = math.inf

    def search(self, state: State, last: Node | None = None) -> Node:
        """The root after all iterations.

        If the tree under `last` knows the state, the node of most visits that it has for it is the
        root, and iterations count on from these visits.
        """
        known = [] if last is None else [node for node in last.all() if node.state == state]
        root = max(known, key=lambda node: sum(node.visits.values()), default=self._node(state))
        done = sum(root.visits.values())
        while done < self.iterations:
            if self.solver and root.bounds()[0] == root.bounds()[1]:
                break
            # Steps end where those of a new tree end.
            end = min(done + self.leaves - done % self.leaves, self.iterations)
            paths = [self._descend(root) for _ in range(done, end)]
            for path in paths:
                self._credit(path)
            done = end
        return root

    def _descend(self, root: Node) -> list[tuple[Node, int]]:
        node, path = root, []
        while not node.state.terminal:
            action = self._select(node)
            path.append((node, action))
            node.waiting[action] += 1
            if action not in node.children:
                break
            node = node.children[action]
        return path

    def _credit(self, path: list[tuple[Node, int]]) -> None:
        if not path:
            return
        last, action = path[-1]
        if action not in last.children:
            last.children[action] = self._node(self.game.play(last.state, action))
        leaf = last.children[action]
        for above, action in path:
            mover = above.state.player
            paid = leaf.state.rewards[mover] - above.state.rewards[mover]
            above.waiting[action] -= 1
            above.visits[action] += 1
            above.totals[action] += paid + leaf.values[mover]

    def _select(self, node: Node) -> int:
        spread = math.sqrt(sum(node.visits.values()) + node.waiting.total() + 1e-8)
        scores = {}
        for action, prior in node.prior.items():
            if self.solver and not node.may_be_best(action):
                continue
            waiting = node.waiting[action]
            visits = node.visits[action] + waiting
            total = node.totals[action] + waiting * self.loss
            q = total / visits if visits else self.unvisited
            scores[action] = q + self.exploration * prior * spread / (1 + visits)
        first, *others = sorted(scores, key=lambda action: (-scores[action], action))
        if others and scores[others[0]] != scores[first]:
            difference = scores[first] - scores[others[0]]
            self.closest = min(self.closest, difference / max(abs(scores[first]), 1e-5))
        return first

    def _node(self, state: State) -> Node:
        values = self._action_values(state)
        shares = {action: math.exp(v / self.temperature) for action, v in values.items()}
        prior = {action: share / sum(shares.values()) for action, share in shares.items()}
        node = Node(state, self._values(state), prior)
        node.visits = dict.fromkeys(values, 0)
        node.totals = dict.fromkeys(values, 0.0)
        return node

    def _action_values(self, state: State) -> dict[int, float]:
        mover, values = state.player, {}
        for action in self.game.legal(state):
            after = self.game.play(state, action)
            values[action] = after.rewards[mover] - state.rewards[mover]
            if not (after.terminal or is_out(self.game, after, mover)):
                values[action] += self.value(after.cells, mover)
        return values

    def _values(self, state: State) -> list[float]:
        found: dict[int, float] = {}
        now, players = state, range(self.game.num_players)
        for _ in range(self.game.num_players - 1):
            if now.terminal:
                break
            values = self._action_values(now)
            best = max(values, key=lambda action: (values[action], -action))
            gained = now.rewards[now.player] - state.rewards[now.player]
            found.setdefault(now.player, gained + values[best])
            now = self.game.play(now, best)
        for player in players:
            if player not in found and (now.terminal or is_out(self.game, state, player)):
                found[player] = now.rewards[player] - state.rewards[player]
            elif player not in found:
                found[player] = self.value(state.cells, player)
        return [found[player] for player in players]


@dataclass
class PUCTOfActions(PUCT):
    """PUCT over Q(s, a | player), which every player has of his own turns alone."""

    value: ActionValue  # type: ignore[assignment]

    def _action_values(self, state: State) -> dict[int, float]:
        q = self.value(state.cells, state.player)
        return {action: float(q[action]) for action in self.game.legal(state)}

    def _values(self, state: State) -> list[float]:
        now, values = state, [0.0] * self.game.num_players
        waiting = set(range(self.game.num_players))
        while waiting and not now.terminal:
            q, mover = self._action_values(now), now.player
            if mover in waiting:
                waiting.remove(mover)
                values[mover] = now.rewards[mover] - state.rewards[mover] + max(q.values())
            now = self.game.play(now, max(q, key=lambda action: (q[action], -action)))
        for player in waiting:
            values[player] = now.rewards[player] - state.rewards[player]
        return values
