enum RelayWirePlaceholder {}
