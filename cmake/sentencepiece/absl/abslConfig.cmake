# Deliberately empty: the bundled abseil targets exist already.
