"""Raw request bodies lowered to histories: one module per wire, each with `lower_request(body, host="") -> History`."""
