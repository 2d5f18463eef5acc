"""The page to play on: its server has no memory and is told the whole game with each question."""
