"""SRAM tables made: by CACTI where it is installed."""
