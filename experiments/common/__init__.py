"""What the scripts share: command line, record, drawing, the paper's numbers, searches, the least traffic."""
