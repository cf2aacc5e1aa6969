enum RelaySystemPlaceholder {}
