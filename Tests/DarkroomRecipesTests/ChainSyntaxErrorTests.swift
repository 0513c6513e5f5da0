import ErrorExpectations
import Testing

@testable import DarkroomRecipes

@Suite struct ChainSyntaxErrorTests {
    static let allFilters = """
        the filters are sepia, grayscale, saturate, hue-rotate, invert, brightness, contrast, gamma, tint, duotone, \
        normalize, matrix, resize, crop, trim, extend, rotate, flip, flop, blur, sharpen, median, pixelate, vignette, \
        tilt-shift, watermark
        """

    static let mistakes: [(text: String, description: String)] = [
        // Chains and names.
        ("", "character 1: no filter; write none for an empty chain"),
        ("sepai", #"character 1: there is no filter "sepai"; did you mean sepia?"#),
        ("flip Sepia", #"character 6: there is no filter "Sepia"; did you mean sepia?"#),
        ("waves", #"character 1: there is no filter "waves"; \#(allFilters)"#),
        ("sépia", #"character 1: there is no filter "sépia"; did you mean sepia?"#),
        ("none flip", "character 1: none stands alone; leave it or the other filters out"),
        ("flip none", "character 6: none stands alone; leave it or the other filters out"),
        ("none none", "character 6: none stands alone; leave it or the other filters out"),
        ("none=1", "character 1: none has no arguments"),
        ("sepia,flip", #"character 1: a "," between filters; separate filters by spaces"#),
        (
            "sepia = 0.8", #"character 7: no filter name before "="; write NAME=ARGUMENT,... without spaces"#
        ),
        ("sepia;flip", #"character 6: a ";" in a filter chain; put a value that contains it in quotes"#),
        (
            "quality=70",
            #"character 1: quality is an encoding setting; write it after a ";" in a rendition, or give it as a setting of all files"#
        ),
        ("sepia\u{0}", "character 6: a control character; remove it"),
        ("flip\u{2028}flop", "character 5: a control character; remove it"),
        // Arguments.
        ("sepia=", "filter sepia, character 7: an empty argument; write a value"),
        ("sepia=0.5,", "filter sepia, character 11: an empty argument; write a value"),
        ("resize=800,fit:", "filter resize, character 12: an empty argument; write a value"),
        (
            "sepia=0.8blur=3",
            """
            filter sepia, character 14: a "=" within a value; put the value in quotes, or write a space before the \
            next filter
            """
        ),
        (
            "sepia=0.5,0.7",
            "filter sepia, character 11: only one value can be written without a name; the parameter is amount"
        ),
        (
            "resize=8,cover,enlagre",
            "filter resize, character 16: only 2 values can be written without a name; did you mean enlarge?"
        ),
        (
            "tilt-shift=3",
            """
            filter tilt-shift, character 12: no value can be written without a name; the parameters are radius, \
            position, angle, width, fade
            """
        ),
        ("resize=8, fit:fill", "filter resize, character 10: a space within the arguments; remove it"),
        ("flip=1", "filter flip, character 6: flip has no parameters"),
        ("flip=a:1", #"filter flip, character 6: there is no parameter "a"; flip has no parameters"#),
        (
            "resize=8,gravty:north",
            #"filter resize, character 10: there is no parameter "gravty"; did you mean gravity?"#
        ),
        ("resize=8,focus", "filter resize, character 10: focus has no value; write focus:VALUE"),
        ("resize=8,fit:cover,fit:fill", "filter resize, character 20: fit is given twice"),
        ("resize=8,size:9", "filter resize, character 10: size is given twice"),
        ("resize=8,enlarge,enlarge:no", "filter resize, character 18: enlarge is given twice"),
        (
            "flip resize",
            "filter resize, character 6: size is missing; write it like resize=800x600,inside,enlarge:no"
        ),
        // Numbers.
        ("sepia=2", #"filter sepia, character 7: amount "2": write a number from 0 to 1, or 0% to 100%"#),
        ("sepia=-0.1", #"filter sepia, character 7: amount "-0.1": write a number from 0 to 1, or 0% to 100%"#),
        ("sepia=120%", #"filter sepia, character 7: amount "120%": write a number from 0 to 1, or 0% to 100%"#),
        ("sepia=nan", #"filter sepia, character 7: amount "nan": write a number from 0 to 1, or 0% to 100%"#),
        ("sepia=0x1", #"filter sepia, character 7: amount "0x1": write a number from 0 to 1, or 0% to 100%"#),
        ("sepia=1e999", #"filter sepia, character 7: amount "1e999": write a number from 0 to 1, or 0% to 100%"#),
        ("sepia=٣", #"filter sepia, character 7: amount "٣": write a number from 0 to 1, or 0% to 100%"#),
        (
            "sepia=80px",
            #"filter sepia, character 7: amount "80px": the unit is %; write a number from 0 to 1, or 0% to 100%"#
        ),
        (
            "blur=3deg",
            #"filter blur, character 6: sigma "3deg": the unit is px; write a number of pixels from 0.3 to 250"#
        ),
        ("gamma=2%", #"filter gamma, character 7: gamma "2%": it has no unit; write a number from 0.1 to 10"#),
        ("median=4", #"filter median, character 8: size "4": write an odd number of pixels from 3 to 15"#),
        (
            "pixelate=2.5",
            #"filter pixelate, character 10: size "2.5": write a whole number of pixels from 2 to 1000"#
        ),
        ("matrix=1,2", "filter matrix, character 1: values: 2 numbers; write 9 or 12 numbers from -100 to 100"),
        (
            "matrix=1,2,3,4,5,6,7,8,9,10,11,12,13,14",
            "filter matrix, character 38: values: too many numbers; write 9 or 12 numbers from -100 to 100"
        ),
        ("matrix=1,x", #"filter matrix, character 10: values "x": write a number from -100 to 100"#),
        ("normalize=50,50", "filter normalize, character 14: upper must be greater than lower"),
        // Words and colours.
        ("resize=8,cvoer", #"filter resize, character 10: fit "cvoer": did you mean cover?"#),
        (
            "resize=8,fit:big",
            #"filter resize, character 14: fit "big": write cover, contain, fill, inside or outside"#
        ),
        ("resize=8,enlarge:maybe", #"filter resize, character 18: enlarge "maybe": write yes or no"#),
        ("tint=oragne", #"filter tint, character 6: colour "oragne": did you mean orange?"#),
        (
            "tint=#12345",
            ##"filter tint, character 6: colour "#12345": write an opaque colour such as #ff8800 or orange"##
        ),
        (
            "duotone=red,transparent",
            #"filter duotone, character 13: light "transparent": write an opaque colour such as #ff8800 or orange"#
        ),
        (
            "vignette=colour:#ff880080",
            ##"filter vignette, character 17: colour "#ff880080": write an opaque colour such as #ff8800 or orange"##
        ),
        (
            "watermark=text:a,colour:#fff8",
            ##"filter watermark, character 25: colour "#fff8": write an opaque colour such as #ff8800 or orange"##
        ),
        (
            "extend=1,background:#12",
            ##"filter extend, character 21: background "#12": write a colour such as #ff8800 or orange, or blur"##
        ),
        // Sizes, areas, ratios and points.
        (
            "resize=800y600",
            #"filter resize, character 8: size "800y600": write a size in pixels such as 800x600, 800x or x600"#
        ),
        ("resize=x", #"filter resize, character 8: size "x": write a size in pixels such as 800x600, 800x or x600"#),
        ("resize=0x600", #"filter resize, character 8: size "0": write whole pixels from 1 to 65535"#),
        ("resize=65536", #"filter resize, character 8: size "65536": write whole pixels from 1 to 65535"#),
        (
            "crop=300",
            #"filter crop, character 6: area "300": write 300x200 (a size), 300x200+10+20 (a box) or 16:9 (a ratio)"#
        ),
        ("crop=16:0", #"filter crop, character 6: area "16:0": write a ratio from 1:1000 to 1000:1"#),
        (
            "crop=9x9+1+1,gravity:north",
            "filter crop, character 14: the box has its own place; leave gravity out"
        ),
        (
            "resize=8,gravity:north,focus:0.5x0.5",
            "filter resize, character 24: focus excludes gravity; leave one of them out"
        ),
        (
            "resize=8,focus:2x0.5",
            #"filter resize, character 16: focus "2": write a number from 0 to 1, or 0% to 100%"#
        ),
        (
            "resize=8,focus:0.5",
            #"filter resize, character 16: focus "0.5": write a point such as 0.3x0.7 or 30%x70%"#
        ),
        (
            "extend=background:red",
            "filter extend, character 1: an edge or a ratio is missing; write it like extend=20 or extend=ratio:1:1"
        ),
        ("extend=5,ratio:1:1", "filter extend, character 10: ratio excludes all; leave one of them out"),
        // Texts and quotes.
        (
            "watermark",
            """
            filter watermark, character 1: an image or a text is missing; write watermark=image:PATH or \
            watermark=text:TEXT
            """
        ),
        ("watermark=image:a,text:b", "filter watermark, character 19: text excludes image; leave one of them out"),
        (
            "watermark=image:a,colour:red",
            "filter watermark, character 19: colour belongs to a text, and the watermark is an image"
        ),
        (#"watermark=text:"Ann"#, "filter watermark, character 16: the closing quote is missing"),
        (
            #"watermark=text:"Ann"x"#,
            "filter watermark, character 21: text after the closing quote; put the whole value in quotes"
        ),
        (
            #"watermark=text:An"n""#,
            "filter watermark, character 18: a quote within a value; put the whole value in quotes"
        ),
        (
            #"watermark=text:"a\n""#,
            #"filter watermark, character 18: in quotes, write \\ for a backslash and \" for a quote"#
        ),
        (
            "watermark=text:\"a\nb\"",
            "filter watermark, character 18: a line end, tab or control character in quotes; remove it"
        ),
        (
            #"watermark=text:" ""#,
            #"filter watermark, character 16: text " ": write at least one character other than white space"#
        ),
        (#"watermark=text:"""#, #"filter watermark, character 16: text "": write a text of 1 to 500 characters"#),
        // Custom filters.
        ("x:a.b", #"character 1: a custom filter is x: and a name of 1 to 64 letters, digits, "_" and "-""#),
        ("x:a=", #"character 5: no arguments after "="; write x:a or x:a=ARGUMENTS"#),
        (#"x:a=b"c"#, "character 6: a quote within a value; put the whole value in quotes"),
    ]

    @Test(arguments: mistakes)
    func mistakeIsExplained(text: String, description: String) {
        let error = expectError(ChainSyntaxError.self) { try [PhotoFilter](parsing: text) }
        #expect(error?.description == description)
        #expect(error?.text == text)
    }

    @Test func longTextsAreRefused() {
        let limits: [(text: String, description: String)] = [
            (String(repeating: "flip ", count: 101), "character 501: more than 100 filters; leave some out"),
            (
                "flip " + String(repeating: " ", count: 16_380),
                "character 1: longer than 16384 bytes; leave some filters out"
            ),
            (
                "x:a=" + String(repeating: "é", count: 2049),
                "character 5: arguments of a custom filter are at most 4096 bytes long"
            ),
            (
                "watermark=text:" + String(repeating: "a", count: 501),
                """
                filter watermark, character 16: text "\(String(repeating: "a", count: 60))…": write a text of 1 to 500 \
                characters
                """
            ),
        ]
        // Each backslash is two bytes of the canonical text.
        let backslashes = String(repeating: #"x:a=\#(String(repeating: "\\", count: 4000)) "#, count: 3)
        for (text, description) in limits + [(backslashes, limits[1].description)] {
            let error = expectError(ChainSyntaxError.self) { try [PhotoFilter](parsing: text) }
            #expect(error?.description == description)
        }
        #expect(throws: Never.self) {
            _ = try [PhotoFilter](parsing: String(repeating: "flip ", count: 100))
            _ = try [PhotoFilter](parsing: "x:a=" + String(repeating: "é", count: 2048))
            _ = try [PhotoFilter](parsing: "watermark=text:" + String(repeating: "é", count: 500))
        }
    }

    @Test(arguments: [
        ("sepia resize=80O,fill", "sepia resize=80O,fill\n             ^^^"),
        ("写 sepia", "写 sepia\n^"),
        ("flip\u{1b}", "flip\\u{1b}\n    ^^^^^^"),
        (
            String(repeating: "flip ", count: 20) + "sepai" + String(repeating: " flip", count: 20),
            "…flip flip flip flip flip flip sepai flip flip flip flip flip flip flip flip flip flip flip…\n"
                + String(repeating: " ", count: 31) + "^^^^^"
        ),
    ])
    func caretsAreBelowTheMistake(text: String, pointed: String) {
        #expect(expectError(ChainSyntaxError.self) { try [PhotoFilter](parsing: text) }?.pointed == pointed)
    }

    /// Neither the numbers nor the parameters take more time than their text.
    @Test func longNumbersAndListsEndQuickly() throws {
        let long = String(repeating: "3", count: 16_000)
        #expect(try Filter(parsing: "sepia=0.\(long)").description == "sepia=0.3333333333333333")
        let started = ContinuousClock.now
        for text in ["sepia=" + long, "matrix=" + String(repeating: "1,", count: 500_000)] {
            #expect(throws: ChainSyntaxError.self) { try [PhotoFilter](parsing: text) }
        }
        #expect(ContinuousClock.now - started < .seconds(10))
    }

    @Test func oneFilterIsNotAChain() {
        #expect(expectError(ChainSyntaxError.self) { try Filter(parsing: "flip flop") }?.problem == "write one filter")
        #expect(expectError(ChainSyntaxError.self) { try Filter(parsing: "x:a") }?.problem == "write one filter")
    }
}
