enum RelayStandinPlaceholder {}
