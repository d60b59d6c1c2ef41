"""Other looks at a priced partition: what takes the bytes, occupancy, time line, least capacity, traces."""
