"""The board in a notebook: the play page's table as a widget, and a picture where none runs."""
