"""One HTML file that plays without Python: rules and values compiled to JavaScript."""
