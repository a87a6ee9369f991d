// Imported for its effect alone.
