"""What is published: parameters, evaluation protocols and figures."""
