"""Better choices by looking ahead."""
