enum RelayHTTPPlaceholder {}
