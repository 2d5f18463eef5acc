"""Rules in, rated agent out: choose the settings of a game, train, rate and export in one call."""
