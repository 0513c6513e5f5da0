import Darkroom
import DarkroomFiles
import DarkroomHTTP
import Foundation

/// The named values in the body of a request: a form, or a JSON object whose values are texts, numbers, true, false or
/// arrays of them.
struct FormFields: Sendable {
    private var values: [(name: String, value: String)] = []
    /// The uploaded photo list, if the form has one.
    private(set) var list: UploadedList?

    static let maxBytes = 1 << 20

    private init(_ values: [(name: String, value: String)], list: UploadedList?) {
        self.values = values
        self.list = list
    }

    /// The parameters of a query.
    init(_ query: [RequestTarget.Parameter]) { values = query.map { ($0.name, $0.value) } }

    /// Reads the body of a request.
    /// - Throws: ``Problem`` if the body has none of these forms.
    init(_ request: HTTPRequest) throws(Problem) {
        let type = request.contentType
        switch request.body {
        case .file(let file): self = try Self.upload(file, type, request)
        case .bytes(let bytes):
            guard !bytes.isEmpty else { return }
            switch type.name {
            case "application/json": values = try Self.json(bytes)
            case "application/x-www-form-urlencoded": values = try Self.urlEncoded(bytes)
            default:
                throw Problem(
                    415, "unknownContentType",
                    "the body has the type \"\(type.name)\"; send application/json or application/x-www-form-urlencoded"
                )
            }
        }
    }

    private static func urlEncoded(_ bytes: [UInt8]) throws(Problem) -> [(name: String, value: String)] {
        guard let parameters = RequestTarget.parameters(bytes) else {
            throw Problem(400, "invalidBody", "the form is not valid: an escape, or text that is not UTF-8")
        }
        return parameters.map { ($0.name, $0.value) }
    }

    private static func json(_ bytes: [UInt8]) throws(Problem) -> [(name: String, value: String)] {
        guard let object = try? UntrustedJSON().decode([String: Values].self, from: bytes) else {
            throw Problem(
                400, "invalidBody",
                "the body is not a JSON object whose values are texts, numbers, true, false or arrays of them")
        }
        return object.flatMap { name, values in values.texts.map { (name, $0) } }
    }

    /// Reads fields as JSON or as a simple form, a form with the list as one of its parts, or the list as the whole
    /// body. In each case, the query can contain further fields.
    private static func upload(
        _ file: UploadedFile, _ type: ContentTypeField, _ request: HTTPRequest
    ) throws(Problem) -> FormFields {
        let query = request.target.query.map { ($0.name, $0.value) }
        do {
            switch type.name {
            case "multipart/form-data":
                let form = try MultipartForm(file, boundary: type.parameter("boundary") ?? "", maxFieldBytes: maxBytes)
                // Browsers send a part without a name if no file was chosen.
                let list = form.files.first { $0.file.size > 0 } ?? form.files.first { !$0.name.isEmpty }
                return FormFields(query + form.fields, list: list.map { UploadedList(file: $0.file, name: $0.name) })
            case "application/json": return FormFields(try query + json(file.bytes(maxBytes: maxBytes)), list: nil)
            case "application/x-www-form-urlencoded":
                return FormFields(try query + urlEncoded(file.bytes(maxBytes: maxBytes)), list: nil)
            default:
                return FormFields(query, list: file.size == 0 ? nil : UploadedList(file: file, name: "list"))
            }
        } catch let failure as MultipartForm.Failure {
            throw failure.isOfSystem
                ? Problem(507, "diskFull", failure.description) : Problem(400, "invalidBody", failure.description)
        } catch let failure as SystemFailure where failure.error == EFBIG {
            throw Problem(
                413, "tooLarge",
                "the fields have more than \(HumanText.bytes(maxBytes)); to send a list as the whole body, give it another "
                    + "Content-Type than \(type.name), for example text/csv")
        } catch {
            throw Problem(error, "read the form")
        }
    }

    // MARK: - Values

    /// All values of a field, in order.
    func all(_ name: String) -> [String] { values.filter { $0.name == name }.map(\.value) }

    /// The value of a field; nil if it is missing or empty.
    /// - Throws: ``Problem`` if the field has several values.
    func text(_ name: String) throws(Problem) -> String? {
        let found = all(name).filter { !$0.isEmpty }
        guard found.count < 2 else {
            throw Problem(400, "invalidField", "the field \"\(name)\" has \(found.count) values, not one")
        }
        return found.first
    }

    /// - Throws: ``Problem`` if the field is neither missing nor `true`, `false`, `on`, `1` or `0`.
    func flag(_ name: String) throws(Problem) -> Bool {
        guard let text = try text(name) else { return false }
        guard let flag = Bool(flag: text) else {
            throw Problem(400, "invalidField", "the field \"\(name)\" is \"\(text)\"; it can be true or false")
        }
        return flag
    }

    /// - Throws: ``Problem`` if the field is not a whole number.
    func number(_ name: String) throws(Problem) -> Int? {
        guard let text = try text(name) else { return nil }
        guard let number = Int(text) else {
            throw Problem(400, "invalidField", "the field \"\(name)\" is \"\(text)\"; it must be a whole number")
        }
        return number
    }

    /// - Throws: ``Problem`` if there are other fields than these.
    func require(only allowed: [String]) throws(Problem) {
        guard let other = values.first(where: { !allowed.contains($0.name) })?.name else { return }
        throw .unknown("field", other, known: allowed, code: "invalidField")
    }

    /// The texts of a JSON value.
    private struct Values: Decodable {
        let texts: [String]

        init(from decoder: any Decoder) throws {
            if var array = try? decoder.unkeyedContainer() {  // otherwise it is a single value
                var texts: [String] = []
                while !array.isAtEnd { texts.append(try array.decode(Scalar.self).text) }
                self.texts = texts
            } else {
                let value = try decoder.singleValueContainer()
                texts = value.decodeNil() ? [] : [try value.decode(Scalar.self).text]
            }
        }
    }

    private struct Scalar: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            // The types exclude each other, so at most one of these attempts succeeds.
            if let flag = try? value.decode(Bool.self) {
                text = flag ? "true" : "false"
            } else if let number = try? value.decode(Int.self) {
                text = String(number)
            } else if let number = try? value.decode(Double.self) {
                text = String(number)
            } else {
                text = try value.decode(String.self)
            }
        }
    }
}

/// A photo list that a client has sent.
struct UploadedList: Sendable {
    let file: UploadedFile
    /// The name that the client gave.
    let name: String
}

extension UploadedFile {
    /// Reads the file.
    fileprivate func bytes(maxBytes: Int) throws(SystemFailure) -> [UInt8] {
        let (folder, name) = Path.split(path)
        return try Folder(trusted: folder ?? ".").contents(of: name, maxBytes: maxBytes)
    }
}
