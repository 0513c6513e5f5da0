import Darkroom
import DarkroomHTTP

/// Submits the lists that clients send.
package struct ListSubmission: Sendable {
    /// A list and the options of its batch.
    package struct Request: Sendable {
        /// The path of an uploaded file, or a URL.
        package let list: String
        /// The uploaded file, which is removed with the last reference to this object; nil for a URL.
        package let upload: UploadedFile?
        /// The name of the list for messages.
        package let name: String
        /// Option names as in ``ListSubmission/fields``, and values.
        package let options: [(name: String, value: String)]
        /// Whether the client has closed its connection. Its list is then not submitted.
        package let clientHasLeft: @Sendable () -> Bool
    }

    /// The names of the options that clients may give.
    package let fields: [String]
    /// The names of all fields of a form: the address of the list, and the options.
    var formFields: [String] { ["list"] + fields }
    /// The folder that contains the output folders.
    package let outputs: String
    /// Submits a list. Returns as soon as the batch exists; the list is then fed in the background.
    package let submit: @Sendable (Request) throws -> BatchID

    package init(fields: [String], outputs: String, submit: @escaping @Sendable (Request) throws -> BatchID) {
        self.fields = fields
        self.outputs = outputs
        self.submit = submit
    }
}

/// The routes that submit a list.
enum SubmissionRoutes {
    static let all: [Route] = [
        Route(.post, BatchRoutes.path, body: .upload) { call in
            let batch = try call.submitted(FormFields(call.request))
            var response = try call.result(of: batch)
            response.status = 201
            response.headers.append(("Location", call.site.link("api", "v1", "batches", batch.id.description)))
            return response
        }
    ]
}

extension Call {
    /// Submits the list of a form.
    func submitted(_ fields: FormFields) throws -> BatchFacts {
        guard let submission = site.configuration.submission else { throw Problem.noSubmission }
        try fields.require(only: submission.formFields)
        let url = try fields.text("list")
        let request: ListSubmission.Request
        // Empty fields of forms are options that were not chosen.
        let options = submission.fields.flatMap { name in
            fields.all(name).filter { !$0.isEmpty }.map { (name: name, value: $0) }
        }
        switch (fields.list, url) {
        case (let list?, _) where list.file.size == 0:
            throw Problem(400, "noList", "the list \"\(list.name)\" is empty")
        case (let list?, nil):
            request = ListSubmission.Request(
                list: list.file.path, upload: list.file, name: list.name, options: options,
                clientHasLeft: clientHasLeft)
        case (nil, let url?):
            guard ["http://", "https://"].contains(where: { url.lowercased().hasPrefix($0) }) else {
                throw Problem(
                    400, "invalidField", "the list \"\(url)\" is no http:// or https:// address; or upload a file")
            }
            request = ListSubmission.Request(
                list: url, upload: nil, name: url, options: options, clientHasLeft: clientHasLeft)
        case (nil, nil):
            throw Problem(400, "noList", "there is no list: upload a file, or give its address in \"list\"")
        case (_?, _?):
            throw Problem(400, "noList", "there are an uploaded list and the address of a list; give only one")
        }
        return try Problem.naming(submission.fields, "submit a list") { try facts(of: submission.submit(request)) }
    }
}
