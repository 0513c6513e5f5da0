import Glibc

/// The system's text for an error number, from strerror(3), for example `No such file or directory`.
package func systemErrorText(_ error: Int32 = errno) -> String { String(cString: strerror(error)) }
