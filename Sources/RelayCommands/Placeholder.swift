enum RelayCommandsPlaceholder {}
