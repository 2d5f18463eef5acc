"""Statistics, tables and figures of finished or running trainings."""
