"""Reports: results as text, JSON, HTML, JUnit, SARIF and ITF."""
