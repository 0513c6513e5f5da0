import Darkroom
import DarkroomHTTP

/// The routes that submit a list.
enum SubmissionRoutes {
    /// The names of all fields of a form: the address of the list, and the other fields.
    static let fields = ["list"] + SubmittedFields.names

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
        try fields.require(only: SubmissionRoutes.fields)
        let url = try fields.text("list")
        let request: SubmittedList
        // An empty field of a form counts as not filled in.
        let given = SubmittedFields.names.flatMap { name in
            fields.all(name).filter { !$0.isEmpty }.map { (name: name, value: $0) }
        }
        switch (fields.list, url) {
        case (let list?, _) where list.file.size == 0:
            throw Problem(400, "noList", "the list \"\(list.name)\" is empty")
        case (let list?, nil):
            request = SubmittedList(
                location: list.file.path, upload: list.file, name: list.name, fields: given,
                clientHasLeft: clientHasLeft)
        case (nil, let url?):
            guard ["http://", "https://"].contains(where: { url.lowercased().hasPrefix($0) }) else {
                throw Problem(
                    400, "invalidField", "the list \"\(url)\" is not an http:// or https:// address; or upload a file")
            }
            request = SubmittedList(
                location: url, upload: nil, name: url, fields: given, clientHasLeft: clientHasLeft)
        case (nil, nil):
            throw Problem(400, "noList", "there is no list: upload a file, or give its address in \"list\"")
        case (_?, _?):
            throw Problem(400, "noList", "there are an uploaded list and the address of a list; give only one")
        }
        return try facts(of: submission.submit(request))
    }
}
