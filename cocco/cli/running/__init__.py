"""How a command's work is run, told, resumed and interrupted."""
