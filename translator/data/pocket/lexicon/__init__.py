"""The words of the pocket corpus and what they go together with."""
