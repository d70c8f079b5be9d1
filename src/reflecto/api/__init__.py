"""HTTP: routes by capability, authentication, and the one place where errors become replies."""
