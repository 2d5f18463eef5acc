"""One HTML file that plays without Python: rules and values as JavaScript, from the same source."""
