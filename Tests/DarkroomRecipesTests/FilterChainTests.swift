import ErrorExpectations
import Testing

@testable import DarkroomRecipes

@Suite struct FilterChainTests {
    @Test(arguments: [
        // Defaults and first parameters.
        ("sepia", "sepia=0.8"), ("sepia=80%", "sepia=0.8"), ("invert", "invert=1"), ("flip", "flip"),
        ("tilt-shift", "tilt-shift=radius:3"), ("sepia=5e-1", "sepia=0.5"), ("sepia=-0", "sepia=0"),
        ("tilt-shift=radius:3,position:50%", "tilt-shift=radius:3"), ("none", "none"), (" none\n", "none"),
        ("sepia=33.3%", "sepia=0.333"), ("normalize=2%,98%", "normalize=2,98"),
        // Positional and named values.
        ("resize=fit:contain,800x600", "resize=800x600,contain"), ("resize=800", "resize=800x"),
        ("resize=x600,enlarge:no,linear", "resize=x600,enlarge:no,linear:yes"),
        ("resize=800x600,gravity:attention", "resize=800x600,gravity:attention"),
        ("sharpen=threshold:5", "sharpen=1,threshold:5"), ("sharpen=1px,200%,5", "sharpen=1,2,5"),
        ("extend=top:3", "extend=top:3"), ("extend=5,top:3,background:blur", "extend=5,top:3,background:blur"),
        ("extend=ratio:1:1", "extend=ratio:1:1"), ("extend=ratio:1.50", "extend=ratio:1.5"),
        ("matrix=0,0,1,0,1,0,1,0,0", "matrix=0,0,1,0,1,0,1,0,0"),
        // Values of several forms.
        ("crop=300x200+10+20", "crop=300x200+10+20"), ("crop=300x", "crop=300x"), ("crop=16:9", "crop=16:9"),
        ("crop=1.5,focus:30%x0.7", "crop=1.5,focus:0.3x0.7"), ("tint=Orange,50%", "tint=#ffa500,0.5"),
        ("duotone=#123,#abcf", "duotone=#112233,#aabbcc"),
        ("rotate=9,background:#abcd", "rotate=9,background:#aabbccdd"),
        ("extend=1,background:transparent", "extend=1,background:#00000000"),
        ("extend=1,background:#0000FF80", "extend=1,background:#0000ff80"),
        // Quotes and white space.
        (#"watermark=text:"Ann, 2026""#, #"watermark=text:"Ann, 2026""#),
        (#"watermark=text:"Ann""#, "watermark=text:Ann"),
        (#"watermark=text:"a\"b\\c""#, #"watermark=text:"a\"b\\c""#), (#"sepia="0.5""#, "sepia=0.5"),
        ("watermark=image:/a:b", #"watermark=image:"/a:b""#), ("sepia\t\n  flip \\\n flop", "sepia=0.8 flip flop"),
        // Custom filters.
        ("x:stamp", "x:stamp"), ("x:stamp=a,b:c=d sepia x:stamp", "x:stamp=a,b:c=d sepia=0.8 x:stamp"),
        (#"x:stamp="a b; c""#, #"x:stamp="a b; c""#), (#"x:stamp="""#, "x:stamp"),
    ])
    func textIsCanonical(text: String, canonical: String) throws {
        let chain = try [PhotoFilter](parsing: text)
        #expect(chain.text == canonical)
        let again = try [PhotoFilter](parsing: canonical)
        #expect(again == chain)
        #expect(again.text == canonical)
    }

    @Test(arguments: Filter.Kind.allCases) func exampleIsValid(kind: Filter.Kind) throws {
        let chain = try [PhotoFilter](parsing: kind.definition.example)
        #expect(chain.builtIn.contains { $0.kind == kind })
        #expect(kind.definition.name == kind.rawValue)
    }

    /// `Filter.description` relies on this order.
    @Test(arguments: Filter.Kind.allCases) func positionalParametersAreFirst(kind: Filter.Kind) {
        let parameters = kind.definition.parameters
        let positional = parameters.prefix { $0.isPositional }
        #expect(parameters.filter(\.isPositional).count == positional.count)
        #expect(Set(parameters.map(\.name)).count == parameters.count)
    }

    @Test(arguments: Filter.Kind.allCases) func defaultsAreInRange(kind: Filter.Kind) throws {
        for parameter in kind.definition.parameters {
            guard let standard = parameter.standard else { continue }
            #expect(try parameter.kind.parse(standard.description, of: parameter.name) == standard)
        }
    }

    @Test func argumentsAreTyped() throws {
        let resize = try Filter(parsing: "resize=800x,inside,enlarge:no,focus:0.3x70%")
        #expect(resize.size("size") == (800, nil))
        #expect(resize.choice("fit") == "inside")
        #expect(resize.flag("enlarge") == false)
        #expect(resize.colour("background") == .black)
        #expect(resize.point("focus") == FocusPoint(x: 0.3, y: 0.7))
        let extend = try Filter(parsing: "extend=ratio:16:9,background:blur")
        #expect(extend.ratio("ratio")?.quotient == 16.0 / 9)
        #expect(extend.optionalWhole("top") == nil)
        #expect(extend.colourOrWord("background") == nil)
        #expect(try Filter(parsing: "crop=3x2+1+0").area("area") == .box(width: 3, height: 2, x: 1, y: 0))
        #expect(try Filter(parsing: "matrix=1,0,0,0,1,0,0,0,1").numbers("values") == [1, 0, 0, 0, 1, 0, 0, 0, 1])
        #expect(try Filter(parsing: "watermark=text:Zoë").text("text") == "Zoë")
        #expect(try Filter(parsing: "median").whole("size") == 3)
    }

    @Test func namesOfCustomFiltersAreListedOnce() throws {
        #expect(try [PhotoFilter](parsing: "x:b=1 sepia x:a x:b").customNames == ["b", "a"])
    }
}
