enum RelayPushPlaceholder {}
