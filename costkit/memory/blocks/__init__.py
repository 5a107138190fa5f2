"""What does one block keep for its backward pass? One module a training stack."""
