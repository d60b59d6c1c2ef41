"""How hard to try, and how work is counted, told, resumed and stopped."""
