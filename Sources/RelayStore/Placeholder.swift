enum RelayStorePlaceholder {}
import GRDB
