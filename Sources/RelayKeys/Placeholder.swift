enum RelayKeysPlaceholder {}
