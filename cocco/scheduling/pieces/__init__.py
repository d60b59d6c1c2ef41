"""Long schedules piece by piece: windows over time, divide and conquer."""
