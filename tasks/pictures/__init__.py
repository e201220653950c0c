"""Pictures: PNG and the identity of a picture, storyboards, visual styles. Knows no world."""
