"""The answers shown: pictures, text, folders on disk, and the page."""
