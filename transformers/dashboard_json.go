package transformers

// The parts of a dashboard as Grafana names them, in the order in which they are
// written (schema version 39).
type (
	dashboardHead struct {
		UID           string      `json:"uid"`
		Title         string      `json:"title"`
		Description   string      `json:"description"`
		Tags          []string    `json:"tags"`
		Editable      bool        `json:"editable"`
		GraphTooltip  int         `json:"graphTooltip"`
		Refresh       string      `json:"refresh"`
		SchemaVersion int         `json:"schemaVersion"`
		Time          timeRange   `json:"time"`
		Annotations   annotations `json:"annotations"`
		Templating    templating  `json:"templating"`
	}
	annotations struct {
		List []any `json:"list"`
	}
	timeRange struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	templating struct {
		List []variable `json:"list"`
	}
	variable struct {
		Name       string      `json:"name"`
		Label      string      `json:"label"`
		Type       string      `json:"type"`
		Query      string      `json:"query"`
		Datasource *datasource `json:"datasource,omitempty"`
		Current    *current    `json:"current,omitempty"`
		Refresh    int         `json:"refresh,omitempty"`
		Sort       int         `json:"sort,omitempty"`
		IncludeAll bool        `json:"includeAll"`
		AllValue   string      `json:"allValue,omitempty"`
	}
	current struct {
		Selected bool   `json:"selected"`
		Text     string `json:"text"`
		Value    string `json:"value"`
	}
	datasource struct {
		Type string `json:"type"`
		UID  string `json:"uid"`
	}
	gridPos struct {
		H int `json:"h"`
		W int `json:"w"`
		X int `json:"x"`
		Y int `json:"y"`
	}
	rowPanel struct {
		ID        int     `json:"id"`
		Type      string  `json:"type"`
		Title     string  `json:"title"`
		Collapsed bool    `json:"collapsed"`
		GridPos   gridPos `json:"gridPos"`
		Panels    []any   `json:"panels"`
	}
	panelJSON struct {
		ID          int         `json:"id"`
		Type        string      `json:"type"`
		Title       string      `json:"title"`
		Description string      `json:"description"`
		GridPos     gridPos     `json:"gridPos"`
		Datasource  datasource  `json:"datasource"`
		Targets     []target    `json:"targets"`
		FieldConfig fieldConfig `json:"fieldConfig"`
		Options     options     `json:"options"`
	}
	target struct {
		RefID        string     `json:"refId"`
		Datasource   datasource `json:"datasource"`
		Expr         string     `json:"expr"`
		LegendFormat string     `json:"legendFormat"`
		Range        bool       `json:"range"`
	}
	fieldConfig struct {
		Defaults  defaults   `json:"defaults"`
		Overrides []override `json:"overrides"`
	}
	defaults struct {
		Unit       string     `json:"unit"`
		Min        *float64   `json:"min"`
		Max        *float64   `json:"max,omitempty"`
		Custom     custom     `json:"custom"`
		Thresholds thresholds `json:"thresholds"`
	}
	custom struct {
		DrawStyle       string `json:"drawStyle"`
		LineWidth       int    `json:"lineWidth"`
		FillOpacity     int    `json:"fillOpacity"`
		ShowPoints      string `json:"showPoints"`
		ThresholdsStyle style  `json:"thresholdsStyle"`
	}
	style struct {
		Mode string `json:"mode"`
	}
	thresholds struct {
		Mode  string `json:"mode"`
		Steps []step `json:"steps"`
	}
	step struct {
		Color string   `json:"color"`
		Value *float64 `json:"value"`
	}
	override struct {
		Matcher    matcher    `json:"matcher"`
		Properties []property `json:"properties"`
	}
	matcher struct {
		ID      string `json:"id"`
		Options string `json:"options"`
	}
	property struct {
		ID    string `json:"id"`
		Value string `json:"value"`
	}
	options struct {
		Legend  legend  `json:"legend"`
		Tooltip tooltip `json:"tooltip"`
	}
	legend struct {
		DisplayMode string   `json:"displayMode"`
		Placement   string   `json:"placement"`
		ShowLegend  bool     `json:"showLegend"`
		Calcs       []string `json:"calcs"`
	}
	tooltip struct {
		Mode string `json:"mode"`
		Sort string `json:"sort"`
	}
)
