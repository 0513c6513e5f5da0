import Darkroom
import DarkroomStore

/// The texts that the script of the contact sheet takes from its page.
enum SheetScript {
    /// The states of photos: the code, the word, the failure reason, and the text for users.
    static let states = JSON.array(
        [state(StateWindow.inProgress, "progress", "in progress")]
            + [PhotoState.new, .downloaded, .filtered, .cancelled].map { state($0.stateCode, $0.word, $0.word) }
            + FailureReason.allCases.map { reason in
                let failed = PhotoState.failed(reason)
                return state(failed.stateCode, failed.word, "\(failed.word): \(reason.word)")
                    .adding(["reason": .string(reason.word)])
            })

    private static func state(_ code: UInt8, _ word: String, _ text: String) -> JSON {
        ["code": .int(Int(code)), "state": .string(word), "text": .string(text)]
    }

    /// The large view of a photo, which the script fills.
    static let photoView = HTML.element(
        "template", ["id": "photo-view"],
        .element(
            "dialog", ["aria-labelledby": "photo-title"],
            .element(
                "div", ["class": "controls"], button(PhotoDetailPage.previous, "previous", key: "ArrowLeft"),
                button(PhotoDetailPage.next, "next", key: "ArrowRight"), link(PhotoDetailPage.download, "file"),
                link("Details", "page"), button("Close", "close", key: "Escape")),
            .element("h1", ["id": "photo-title"]),
            .element(
                "div", ["class": "photo"],
                .element(
                    "div", ["class": "picture"], .element("div", ["class": "stage", "data-original": "The original"]),
                    .void(
                        "input",
                        [
                            "type": "range", "class": "compare", "min": "0", "max": "100", "value": "50",
                            "aria-label": "Before and after",
                        ])), .element("dl", ["class": "facts"]))))

    private static func button(_ text: String, _ action: String, key: String) -> HTML {
        .element("button", ["type": "button", "data-action": action, "aria-keyshortcuts": key], text)
    }

    private static func link(_ text: String, _ target: String) -> HTML {
        .element("a", ["class": "button", "data-link": target], text)
    }
}
