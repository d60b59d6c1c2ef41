"""Plans that were priced best before, by what they are plans of: where a search for a similar question starts."""
