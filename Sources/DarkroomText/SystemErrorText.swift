import Glibc

/// The system's text for an error number, by strerror(3): `No such file or directory`.
package func systemErrorText(_ error: Int32 = errno) -> String { String(cString: strerror(error)) }
