enum RelayClientPlaceholder {}
