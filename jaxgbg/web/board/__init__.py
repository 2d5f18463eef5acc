"""The board in a notebook: the play page as a widget, and a picture if widgets do not work."""
