raise RuntimeError("no GPU here")
