"""What the scripts share: command line, record, drawing, the paper's numbers, searches and schedules."""
