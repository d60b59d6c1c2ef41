"""Our own questions, which none of the papers asks."""
