"""The page to play on: its server is stateless, every request contains the whole game."""
