"""An Othello engine for the tests: plays the first legal move, or misbehaves as its argument says.

It knows the rules only through the plain reference, and speaks GTP on standard input and output.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.reference.board_rules import Othello

COLOURS = ("black", "white")


def main() -> None:
    fault = sys.argv[1] if len(sys.argv) > 1 else "none"
    game = Othello()
    state = game.initial()
    for line in sys.stdin:
        command, *words = line.split()
        answer = ""
        if command == "clear_board":
            state = game.initial()
        elif command == "play" and words[1] == "pass":
            # Passing is implicit in the rules: there is nothing to do.
            assert state.player != COLOURS.index(words[0])
        elif command == "play":
            assert state.player == COLOURS.index(words[0])
            state = game.play(state, (int(words[1][1:]) - 1) * 8 + ord(words[1][0]) - ord("a"))
        elif command == "genmove":
            assert state.player == COLOURS.index(words[0])
            action = game.legal(state)[0]
            answer = f" {'ABCDEFGH'[action % 8]}{action // 8 + 1}"
            if fault == "hang":
                time.sleep(60)
            elif fault == "die":
                sys.exit(3)
            elif fault == "flood":
                while True:
                    sys.stdout.write("=" * 65_536)
            elif fault == "illegal":
                answer = " a1"
            elif fault == "garbage":
                print("what a nice move\n", flush=True)
                continue
            elif fault == "refuse":
                print("? I would rather not\n", flush=True)
                continue
        print(f"={answer}\n", flush=True)


if __name__ == "__main__":
    main()
