enum RelaySimulationPlaceholder {}
