BEGIN TRANSACTION;
CREATE TABLE event(
    name TEXT REFERENCES instance, seq INTEGER, time REAL NOT NULL, wall REAL NOT NULL,
    behaviour TEXT NOT NULL, transition TEXT NOT NULL, args TEXT NOT NULL, after TEXT,
    sum TEXT NOT NULL, PRIMARY KEY (name, seq)) WITHOUT ROWID;
INSERT INTO "event" VALUES('a',1,5.0,1790000000.0,'c371e528e75cc6f5','store','{"number":0,"parcel":{"$":"Parcel","weight":0,"fragile":true},"note":{"$opaque":"Note","id":"str:note 0"}}','OPEN','caf7fb0da5d5712e1de502d6829ac45c');
INSERT INTO "event" VALUES('a',2,15.0,1790000000.0,'c371e528e75cc6f5','store','{"number":{"$int":"1152921504606846976"},"parcel":{"$":"Parcel","weight":1,"fragile":false},"note":{"$opaque":"Note","id":"str:note 1"}}','OPEN','2c624833ab04c8274ffa9cc943bf1558');
CREATE TABLE instance(
    name TEXT PRIMARY KEY, machine TEXT NOT NULL, seq INTEGER NOT NULL, sum TEXT NOT NULL)
    WITHOUT ROWID;
INSERT INTO "instance" VALUES('a','Depot',2,'2c624833ab04c8274ffa9cc943bf1558');
CREATE TABLE snapshot(
    name TEXT PRIMARY KEY REFERENCES instance, seq INTEGER NOT NULL, time REAL NOT NULL,
    wall REAL NOT NULL, data TEXT NOT NULL, started TEXT NOT NULL, chain TEXT NOT NULL,
    sum TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "snapshot" VALUES('a',0,5.0,1790000000.0,'{"v": 1, "shape": "a14b774452a80a34", "machine": "Depot", "parameters": {"limit": 3}, "variables": {"state": "OPEN", "parcels": {"$map": []}, "queue": [], "seen": {"$set": []}, "last": null, "note": null, "belt": {"machine": "Belt", "parameters": {}, "variables": {"moved": 0}}, "due": null}}','{}','ce68bc9fa16a272295e9f44fc67b54ab','b2b7768c5c316062864feaa864b3d084');
COMMIT;
PRAGMA user_version = 2;
