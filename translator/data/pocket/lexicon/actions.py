"""The verbs without an object: states, movement, beginnings and ends, and those that take a clause."""

from .entries import Verb
from .forms import verb

ACTIVITIES: tuple[Verb, ...] = (
    verb("sleep", "schlafen schläft geschlafen", past="slept", who="person", how="well alone",
         where="garden bedroom sofa@on bed@in tree@under hotel@in", mood="tired sick", traits="lasting"),
    verb("sleep", "schlafen schläft geschlafen", past="slept", who="animal", how="well alone",
         where="garden meadow forest tree@under", mood="tired sick", traits="lasting"),
    verb("work", "arbeiten arbeitet gearbeitet", who="adult", where="workplace@in garden kitchen",
         how="quickly slowly together alone", traits="lasting"),
    verb("laugh", "lachen lacht gelacht", who="person", how="loudly quietly together", mood="happy",
         where="garden kitchen cinema@in school@in playground", traits="lasting"),
    verb("cry", "weinen weint geweint", who="person", how="loudly quietly alone", mood="sad hungry tired sick",
         where="bedroom garden kitchen", traits="lasting"),
    verb("smile", "lächeln lächelt gelächelt", who="person", mood="happy", traits="lasting"),
    verb("dance", "tanzen tanzt getanzt", who="person", how="well together alone slowly", mood="happy",
         where="garden hotel@in street living-room beach castle@in", traits="lasting with"),
    verb("play", "spielen spielt gespielt", who="child pet friend", how="together alone quietly loudly",
         mood="happy", where="garden playground park street beach living-room meadow bedroom",
         traits="lasting with"),
    verb("swim", "schwimmen schwimmt geschwommen sein", past="swam", ing="swimming", who="person",
         how="well quickly slowly", where="swimmable-inside swimmable@in", traits="lasting with"),
    verb("swim", "schwimmen schwimmt geschwommen sein", past="swam", ing="swimming", who="swimmer",
         how="well quickly slowly", where="swimmable@in", traits="lasting with"),
    verb("wait", "warten wartet gewartet", who="person",
         where="bus-stop station street bridge@on tree@under office playground", how="alone together quietly",
         traits="lasting"),
    verb("sit", "sitzen sitzt gesessen", past="sat", ing="sitting", who="person cat", how="together alone",
         where="seat@on tree@under kitchen garden window restaurant@in", mood="tired", traits="lasting placed"),
    verb("stand", "stehen steht gestanden", past="stood", who="person", how="together alone",
         where="street bridge@on house window tree bus-stop door garden tower", traits="lasting placed"),
    verb("stand", "stehen steht gestanden", past="stood", who="car bicycle bus",
         where="house@in-front-of house@behind hotel@in-front-of castle@in-front-of station street",
         traits="placed state stative no-modal no-who"),
    verb("stand", "stehen steht gestanden", past="stood", who="furniture",
         where="room window", traits="placed state stative no-modal no-who"),
    verb("lie", "liegen liegt gelegen", past="lay", who="person", how="alone together",
         where="bed@in sofa@on meadow beach tree@under", mood="tired sick", traits="lasting placed"),
    verb("lie", "liegen liegt gelegen", past="lay", who="pet", how="alone together",
         where="sofa@on meadow garden tree@under", mood="tired sick", traits="lasting placed"),
    verb("lie", "liegen liegt gelegen", past="lay", who="small-thing text clothes toy",
         where="table kitchen-table chair bed@on bench sofa cupboard@in kitchen",
         traits="placed state stative no-modal no-who"),
    verb("live", "wohnen wohnt gewohnt", who="person", where="region house@in hotel@in castle@in",
         how="alone together", traits="placed state stative with"),
    verb("stay", "bleiben bleibt geblieben sein", who="person",
         where="house@in hotel@in garden hospital@in kitchen", mood="sick tired", traits="placed home with"),
    verb("talk", "sprechen spricht gesprochen", who="person", how="quietly loudly together",
         where="kitchen street bus-stop", traits="lasting with"),
    verb("hike", "wandern wandert gewandert sein", who="person", where="forest mountain", how="together alone",
         traits="lasting with"),
    verb("bark", "bellen bellt gebellt", who="barker", how="loudly quietly", where="garden house door street",
         mood="angry hungry", traits="lasting"),
    verb("fly", "fliegen fliegt geflogen sein", past="flew", who="flyer", how="quickly slowly together",
         goes="lake river forest village", traits="lasting"),
    verb("ring", "klingeln klingelt geklingelt", past="rang", who="clock", how="loudly quietly",
         where="kitchen bedroom", traits="state stative no-modal no-who"),
    verb("bloom", "blühen blüht geblüht", who="flower tree", where="garden park meadow",
         traits="state stative no-modal no-who"),
    verb("burn", "brennen brennt gebrannt", who="candle lamp", where="table@on bedroom church@in living-room",
         traits="state stative no-modal no-who"),
)  # fmt: skip

MOVEMENT: tuple[Verb, ...] = (
    verb("go", "gehen geht gegangen sein", past="went", who="person",
         goes="workplace outdoors town cinema region sight swimmable-inside", traits="home with"),
    verb("run", "laufen läuft gelaufen sein", past="ran", ing="running", who="person runner", how="quickly slowly",
         goes="outdoors town room house swimming-pool", traits="home"),
    verb("jump", "springen springt gesprungen sein", past="jumped", who="child cat monkey frog",
         goes="table sofa bed bench chair", mood="happy", how="quickly", traits="onto"),
    verb("climb", "klettern klettert geklettert sein", who="child climber",
         goes="tree bench sofa chair table tower", how="quickly slowly carefully", traits="onto"),
    verb("drive", "fahren fährt gefahren sein", past="drove", who="adult",
         goes="region town lake hospital hotel beach swimming-pool", how="quickly slowly carefully",
         traits="home with"),
    verb("drive", "fahren fährt gefahren sein", past="drove", who="bus car", goes="region station hospital",
         how="quickly slowly", traits="no-modal no-who"),
    verb("travel", "reisen reist gereist sein", ing="travelling", past="travelled", who="adult",
         goes="region beach lake", how="alone together", traits="with"),
    verb("come", "kommen kommt gekommen sein", past="came", who="person bus",
         goes="party concert school office station market swimming-pool", traits="with no-where"),
    verb("arrive", "an|kommen kommt angekommen sein", who="person", where="station bus-stop",
         traits="moment no-modal"),
    verb("arrive", "an|kommen kommt angekommen sein", who="train", where="station",
         traits="moment no-modal"),
    verb("arrive", "an|kommen kommt angekommen sein", who="bus", where="bus-stop",
         traits="moment no-modal"),
    verb("come back", "zurück|kommen kommt zurückgekommen sein", past="came", who="person pet bird",
         traits="moment"),
    verb("get up", "auf|stehen steht aufgestanden sein", past="got", ing="getting", who="person",
         how="slowly quickly", traits="moment"),
    verb("wake up", "auf|wachen wacht aufgewacht sein", past="woke", who="person pet bear",
         traits="moment no-modal"),
    verb("fall asleep", "ein|schlafen schläft eingeschlafen sein", past="fell", who="person", mood="tired",
         where="sofa@on bed@in bench@on cinema@in tree@under", how="quickly", traits="moment no-modal"),
    verb("fall asleep", "ein|schlafen schläft eingeschlafen sein", past="fell", who="pet", mood="tired",
         where="sofa@on tree@under garden", how="quickly", traits="moment no-modal"),
    verb("begin", "an|fangen fängt angefangen", past="began", ing="beginning", who="event",
         traits="moment no-modal no-who"),
    verb("end", "enden endet geendet", who="event", traits="moment no-modal no-who"),
)  # fmt: skip

BE = verb("be", "sein ist gewesen sein", past="was", preterite="war", traits="stative")
RAIN = verb("rain", "regnen regnet geregnet", traits="lasting")
SNOW = verb("snow", "schneien schneit geschneit", traits="lasting")

# Verbs that report a clause: with "that", and with "whether".
SAY = verb("say", "sagen sagt gesagt", past="said", who="person")
THINK = verb("think", "denken denkt gedacht", past="thought", who="person", traits="stative")
BELIEVE = verb("believe", "glauben glaubt geglaubt", who="person", traits="stative")
KNOW = verb("know", "wissen weiß gewusst", past="knew", who="person", traits="stative")
HOPE = verb("hope", "hoffen hofft gehofft", who="person", traits="stative")
ASK = verb("ask", "fragen fragt gefragt", who="person")
REPORTING = (SAY, THINK, BELIEVE, KNOW, HOPE)

PLAIN_VERBS = ACTIVITIES + MOVEMENT
